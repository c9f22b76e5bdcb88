mod bad_input;
mod damage;
mod examples;
mod golden;
mod lab;
mod requests;
mod system;
mod tables;

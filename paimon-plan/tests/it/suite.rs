mod damage;
mod golden;
mod lab;
mod requests;
mod tables;

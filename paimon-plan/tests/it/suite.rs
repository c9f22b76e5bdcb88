mod golden;
mod tables;

module devicepool

go 1.19

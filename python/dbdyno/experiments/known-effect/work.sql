SELECT stretch(:share, :asleep, sum(value)) FROM reading;

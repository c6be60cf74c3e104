-- One row that carries the highest fencing token which has written: the guard against late writes of a former leader.
-- It comes with its table: of several nodes that start at once and each insert it, all but one would fail.
create table if not exists invoice_book (
    id int primary key,
    last_number bigint not null,
    token bigint not null
) as select 1, 0, 0;

create table if not exists invoice (
    number bigint primary key,
    node varchar(255) not null,
    token bigint not null,
    written_at timestamp with time zone not null
);

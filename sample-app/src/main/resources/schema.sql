-- One row that carries the highest fencing token which has written: the guard against late writes of a former leader.
create table if not exists invoice_book (
    id int primary key,
    last_number bigint not null,
    token bigint not null
);
merge into invoice_book using (values (1)) as wanted (id) on invoice_book.id = wanted.id
    when not matched then insert values (1, 0, 0);

create table if not exists invoice (
    number bigint primary key,
    node varchar(255) not null,
    token bigint not null,
    written_at timestamp with time zone not null
);

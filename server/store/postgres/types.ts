import pg from 'pg';

/** int8, and numeric, which is what a sum of int8 is: both stay below 2^53 here. */
const numbers = new Set([20, 1700]);

/** How a connection reads values: integers of any length as numbers. */
export const numbersAsNumbers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    numbers.has(oid) ? Number : pg.types.getTypeParser(oid, format),
};

import pg from 'pg';

/** int8 and numeric, the type of a sum of int8. Values are below 2^53. */
const numbers = new Set([20, 1700]);

/** Parses all integers as numbers. */
export const numbersAsNumbers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    numbers.has(oid) ? Number : pg.types.getTypeParser(oid, format),
};

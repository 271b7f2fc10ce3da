import { parseArgs } from 'node:util';
import { startFailure } from './runtime/start-failure.ts';
import { storeLocation } from './settings/settings.ts';
import { readBooks } from './store/open-books.ts';
import { type Audit, auditBooks } from './store/queries/audit.ts';

const usage = `npm run admin -- <command> [options]

  audit          proves that grants, holds, settlements and refunds come to the balances of all keys, and names every
                 key and every request that does not add up; exits with 1 then. It reads the database that DATA_DIR or
                 DATABASE_URL names, beside a running gateway or without one, and writes nothing.

  --json         print JSON
  --help         print this

Examples:
  npm run admin -- audit
  DATABASE_URL=postgres://gateway@db/unigate npm run --silent admin -- audit --json | jq '.problems[]'`;

try {
  process.exitCode = await run();
} catch (error) {
  console.error(startFailure(error));
  process.exitCode = 2;
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  const [command, ...more] = positionals;
  if (values.help || command !== 'audit' || more.length > 0) {
    (values.help ? console.log : console.error)(usage);
    return values.help ? 0 : 2;
  }
  const audit = await readBooks(storeLocation(process.env), auditBooks);
  console.log(values.json ? JSON.stringify(audit, null, 2) : told(audit));
  return audit.problems.length === 0 ? 0 : 1;
}

function told({ keys, open, closed, granted, held, spent, left, problems, more }: Audit): string {
  return [
    `${keys} keys: granted ${granted}, held ${held}, spent ${spent}, left ${left}`,
    `${open} open and ${closed} closed reservations`,
    ...problems.map(({ subject, problem }) => `${subject}: ${problem}`),
    ...(more ? ['and more'] : []),
    problems.length === 0 ? 'everything adds up' : 'the books do not add up',
  ].join('\n');
}

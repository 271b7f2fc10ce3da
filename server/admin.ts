import { readFileSync } from 'node:fs';
import { runAdmin } from '../client/commands/admin/run.ts';
import { runProcess } from '../client/commands/run-process.ts';
import { startFailure } from './app/start-failure.ts';
import { storeLocation } from './settings/settings.ts';
import { backUpStore } from './store/back-up-store.ts';
import { copyStore } from './store/copy-store.ts';
import { auditLedger } from './store/queries/audit.ts';
import { readSnapshot } from './store/read-snapshot.ts';

/** `npm run admin`: the operator's command line of the client. Here it can also use the database without a gateway. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Reports errors of the database in the same way as a start does. */
async function reported<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw new Error(startFailure(error), { cause: error });
  }
}

const location = storeLocation(process.env);
const database = {
  audit: () => reported(() => readSnapshot(location, auditLedger)),
  backUp: (file: string) => reported(() => backUpStore(location, file)),
  migrate: (target: string | undefined, signal: AbortSignal) =>
    reported(() => copyStore({ ...location, target, signal })),
};
const program = { name: 'npm run admin --', version, database };
await runProcess((signal) => runAdmin(process.argv.slice(2), process, program, signal));

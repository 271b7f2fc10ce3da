import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { releaseMemory } from '../../lib/release-memory.ts';
import { migrate } from '../migrate.ts';
import type { Database } from '../schema.ts';
import { Batches } from './batches.ts';
import { openWriter } from './connection.ts';
import { nodeSqliteDialect } from './dialect.ts';
import type { FromWriter, ToWriter } from './messages.ts';

if (parentPort === null) throw new Error('the writer runs in a worker thread');
const port: MessagePort = parentPort;
const connection = openWriter(workerData as string);
const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
await migrate(db, 'sqlite');
const batches = new Batches(connection, db);

const send = (message: FromWriter) => port.postMessage(message);

async function handle(message: ToWriter): Promise<void> {
  if (message === 'close') {
    connection.close();
    port.close();
  } else send(message === 'probe' ? { probed: batches.probe() } : await batches.run(message));
}

let handled = Promise.resolve();
port.on('message', (message: ToWriter) => {
  handled = handled.then(() => handle(message));
});
send('ready');
releaseMemory();

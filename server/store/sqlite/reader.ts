import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { type ReportName, reportNamed } from '../reports.ts';
import type { Database } from '../schema.ts';
import { openReader } from './connection.ts';
import { nodeSqliteDialect, sqliteFailure } from './dialect.ts';
import { type Outcome, packError, type WriterData } from './messages.ts';

/** A report that is asked for. */
export interface ReportCall {
  id: number;
  name: ReportName;
  args: unknown;
}

if (parentPort === null) throw new Error('the reader runs in a worker thread');
const port: MessagePort = parentPort;
const connection = openReader((workerData as WriterData).file);
const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });

async function answer({ id, name, args }: ReportCall): Promise<Outcome> {
  try {
    return { id, result: await reportNamed(name)(db, args) };
  } catch (error) {
    return { id, error: packError(sqliteFailure(error)) };
  }
}

port.on('message', (call: ReportCall) => {
  void answer(call).then((outcome) => port.postMessage(outcome));
});

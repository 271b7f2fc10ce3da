import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { type ReportName, runReport } from '../reports.ts';
import type { Database } from '../schema.ts';
import { openReader } from './connection.ts';
import { nodeSqliteDialect, sqliteFailure } from './dialect.ts';
import { type Outcome, packError } from './messages.ts';

/** A request to run a report. */
export interface ReportCall {
  id: number;
  name: ReportName;
  args: unknown;
}

/** The response to a `ReportCall`. */
export interface ReportAnswer {
  id: number;
  outcome: Outcome;
}

if (parentPort === null) throw new Error('the reader runs in a worker thread');
const port: MessagePort = parentPort;
const connection = openReader(workerData as string);
const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });

async function run({ name, args }: ReportCall): Promise<Outcome> {
  try {
    return { result: await runReport(db, name, args) };
  } catch (error) {
    return { error: packError(sqliteFailure(error)) };
  }
}

port.on('message', (call: ReportCall) => {
  void run(call).then((outcome) => {
    const answer: ReportAnswer = { id: call.id, outcome };
    port.postMessage(answer);
  });
});

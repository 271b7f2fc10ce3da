import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { commandNamed } from '../commands/registry.ts';
import { migrate } from '../migrate.ts';
import type { Database } from '../schema.ts';
import { openWriter } from './connection.ts';
import { nodeSqliteDialect } from './dialect.ts';
import {
  type CommandCall,
  type FromWriter,
  type Outcome,
  packError,
  type ToWriter,
  type WriterData,
} from './messages.ts';

/** More commands than this wait for the next commit, so that the first of a flood do not wait for the last. */
const MAX_BATCH = 512;

if (parentPort === null) throw new Error('the writer runs in a worker thread');
const port: MessagePort = parentPort;
const { file } = workerData as WriterData;
const connection = openWriter(file);
const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
await migrate(db, 'sqlite');

const begin = connection.prepare('begin immediate');
const commit = connection.prepare('commit');
const savepoint = connection.prepare('savepoint command');
const release = connection.prepare('release command');
const undo = connection.prepare('rollback to command');

/** Runs the commands in one transaction, each in a savepoint of its own: one that fails takes no other along. */
async function runBatch(batch: CommandCall[]): Promise<Outcome[]> {
  try {
    begin.run();
    const outcomes: Outcome[] = [];
    for (const { id, name, args } of batch) {
      savepoint.run();
      try {
        outcomes.push({ id, result: await commandNamed(name)(db, args) });
      } catch (error) {
        undo.run();
        outcomes.push({ id, error: packError(error) });
      }
      release.run();
    }
    commit.run();
    return outcomes;
  } catch (error) {
    // The transaction itself failed (a full disk, say): nothing of the batch is written, and all must know.
    if (connection.isTransaction) connection.exec('rollback');
    const carried = packError(error);
    return batch.map(({ id }) => ({ id, error: carried }));
  }
}

const waiting: CommandCall[] = [];
let running = false;
let closing = false;

function accept(message: ToWriter): void {
  if (message === 'close') closing = true;
  else waiting.push(...message);
}

async function work(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const batch = waiting.splice(0, MAX_BATCH);
    send(await runBatch(batch));
    // What came during the commit goes into the next one, without a turn of the event loop for each message.
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) accept(next.message);
  }
  running = false;
  if (closing) {
    connection.close();
    port.close();
  }
}

function send(message: FromWriter): void {
  port.postMessage(message);
}

port.on('message', (message: ToWriter) => {
  accept(message);
  if (!running) void work();
});
send('ready');

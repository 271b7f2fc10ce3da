import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { migrate } from '../migrate.ts';
import type { Database } from '../schema.ts';
import { Batches } from './batches.ts';
import { openWriter } from './connection.ts';
import { nodeSqliteDialect } from './dialect.ts';
import { type CommandCall, type FromWriter, packError, type ToWriter, type WriterData } from './messages.ts';

/** More commands than this wait for the next commit, so that the first of a flood do not wait for the last. */
const maxBatch = 512;

if (parentPort === null) throw new Error('the writer runs in a worker thread');
const port: MessagePort = parentPort;
const { file } = workerData as WriterData;
const connection = openWriter(file);
const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
await migrate(db, 'sqlite');
const batches = new Batches(connection, db);

const waiting: CommandCall[] = [];
let running = false;
let probing = false;
let closing = false;

function accept(message: ToWriter): void {
  if (message === 'close') closing = true;
  else if (message === 'probe') probing = true;
  else waiting.push(...message);
}

async function work(): Promise<void> {
  running = true;
  while (waiting.length > 0 || probing) {
    // A probe does not queue behind work.
    if (probing) probe();
    const batch = waiting.splice(0, maxBatch);
    if (batch.length > 0) send(await batches.run(batch));
    // What came during the commit goes into the next one, without a turn of the event loop for each message.
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) accept(next.message);
  }
  running = false;
  if (closing) {
    connection.close();
    port.close();
  }
}

function probe(): void {
  probing = false;
  try {
    batches.probe();
    send({ probed: null });
  } catch (error) {
    send({ probed: packError(error) });
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

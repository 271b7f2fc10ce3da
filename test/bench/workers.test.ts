import pg from 'pg';
import { expect, test } from 'vitest';
import { databaseUrl } from '../store/engines.ts';
import { databaseProcesses, processorTime } from './processor-time.ts';
import { type WorkersResult, workersTargets } from './workers.ts';

const result = (workers: number, change: Partial<WorkersResult>): WorkersResult => ({
  workers,
  requestsPerSecond: 5_000,
  requestsRatio: 1,
  cpuMicroseconds: 130,
  databaseCpuMicroseconds: 50,
  ratioOnOwnCores: 1,
  p99Ms: 10,
  residentMb: 200,
  ...change,
});

test('targets of workers compare two with one, and the database if it is on this machine', () => {
  const two = result(2, { requestsRatio: 0.9, ratioOnOwnCores: 1.8 });
  expect(workersTargets([result(1, {}), two]).map(({ value, reached }) => [value, reached])).toEqual([
    [5_000, false],
    [0.9, false],
    [1.8, true],
    [50, true],
  ]);
  expect(workersTargets([result(1, { databaseCpuMicroseconds: undefined }), two])).toHaveLength(3);
  expect(workersTargets([])).toEqual([]);
});

test('the processor time of a process grows, and is 0 if there is no such process', () => {
  const before = processorTime([process.pid]);
  while (processorTime([process.pid]) === before);
  expect(processorTime([process.pid])).toBeGreaterThan(before);
  expect(processorTime([2 ** 30])).toBe(0);
});

test('the processes of a database are known only on its machine', async () => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
    const processes = await databaseProcesses(client);
    expect(processes).toContain(rows[0]?.id);
  } finally {
    await client.end();
  }
  const elsewhere = { query: async () => ({ rows: [{ pid: process.pid }] }) };
  expect(await databaseProcesses(elsewhere as unknown as pg.Client)).toEqual([]);
});

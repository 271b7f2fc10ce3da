import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** Length of a tick of CPU times on Linux. */
const tickMicroseconds = 10_000;

/** Returns the CPU time that processes have used so far, in microseconds. Linux only. */
export function processorTime(processIds: readonly number[]): number {
  return processIds.reduce((sum, id) => sum + ticksOf(id), 0) * tickMicroseconds;
}

/** User and system time. 0 if the process has ended. */
function ticksOf(processId: number): number {
  const [, fields] = splitStat(processId);
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Returns the program name of a process, and the fields after it. */
function splitStat(processId: number): [name: string, fields: readonly string[]] {
  try {
    // The program name is in parentheses and can contain spaces.
    const [, name = '', rest = ''] =
      /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${processId}/stat`, 'utf8')) ?? [];
    return [name, rest.split(' ')];
  } catch {
    return ['', []];
  }
}

/**
 * Returns the ids of the PostgreSQL processes that serve the database of a client: its connections, and the background
 * processes of the server. Empty if the server runs on another machine.
 */
export async function databaseProcesses(client: Pick<pg.Client, 'query'>): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() or datname is null',
  );
  const ids = rows.map(({ pid }) => pid);
  return ids.every((id) => splitStat(id)[0].startsWith('postgres')) ? ids : [];
}

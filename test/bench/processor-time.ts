import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** Length of a tick of CPU times on Linux. */
export const tickMicroseconds = 10_000;

/** Returns the CPU time that processes have used so far, in microseconds. Linux only. */
export function processorTime(processIds: readonly number[]): number {
  return processIds.reduce((sum, id) => sum + ticksOf(id), 0) * tickMicroseconds;
}

/** User and system time. 0 if the process has ended. */
function ticksOf(processId: number): number {
  const { user, system } = readStat(processId);
  return user + system;
}

function readStat(processId: number): ProcessStat {
  let text = '';
  try {
    text = readFileSync(`/proc/${processId}/stat`, 'utf8');
  } catch {
    // The process has ended.
  }
  return parseStat(text);
}

/** Program name and CPU times of a process, in ticks. */
interface ProcessStat {
  name: string;
  user: number;
  system: number;
  /** Of its children that have ended. */
  childUser: number;
  childSystem: number;
}

/** Parses the content of `/proc/PID/stat`. All times are 0 if it is empty. */
export function parseStat(text: string): ProcessStat {
  // The program name is in parentheses and can contain them.
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = rest.split(' ').slice(11, 15).map(Number);
  return { name, user, system, childUser, childSystem };
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
  return ids.every((id) => readStat(id).name.startsWith('postgres')) ? ids : [];
}

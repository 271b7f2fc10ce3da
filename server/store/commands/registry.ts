import type { Db } from '../schema.ts';
import * as all from './all.ts';

const commands = { ...all };

/**
 * A command writes in one transaction, or not at all. It can run again after a conflict, so it has no other effects, and it waits only
 * for its own queries, since on SQLite it blocks all other writers. Arguments and result are plain data, which cross threads.
 */
export type CommandName = keyof typeof commands;
export type Args<Name extends CommandName> = Parameters<(typeof commands)[Name]>[1];
export type Result<Name extends CommandName> = Awaited<ReturnType<(typeof commands)[Name]>>;

/** Runs a command whose arguments were checked by the caller of the store. */
export function runCommand(trx: Db, name: CommandName, args: unknown): Promise<unknown> {
  return (commands[name] as (trx: Db, args: unknown) => Promise<unknown>)(trx, args);
}

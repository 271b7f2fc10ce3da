import { createToken, createUser, disableToken, ensureBootstrap } from './accounts.ts';
import type { Command } from './command.ts';
import { refund, refundOrphans, reserve, settle } from './ledger.ts';
import { forgetVoice, saveVoice, touchVoice } from './voices.ts';

/** Every command of the store. Adding one here is all it takes for both engines to run it. */
export const commands = {
  createUser,
  createToken,
  disableToken,
  ensureBootstrap,
  reserve,
  settle,
  refund,
  refundOrphans,
  saveVoice,
  touchVoice,
  forgetVoice,
};

export type CommandName = keyof typeof commands;
export type Args<Name extends CommandName> = Parameters<(typeof commands)[Name]>[1];
export type Result<Name extends CommandName> = Awaited<ReturnType<(typeof commands)[Name]>>;

/** For the engines, which carry arguments without looking at them. */
export function commandNamed(name: CommandName): Command<unknown, unknown> {
  return commands[name] as Command<unknown, unknown>;
}

import { createToken } from './accounts.ts';
import { claimSockets, drawRequests, sweepAllowances } from './allowances.ts';
import { renewAssetUrl, saveAsset, settleAsset } from './assets.ts';
import { bookCalls } from './booked-calls.ts';
import { ensureBootstrap } from './bootstrap.ts';
import { noteChange } from './changes.ts';
import { disableChannel, enableChannel } from './channel-states.ts';
import type { Command } from './command.ts';
import {
  pruneDeliveries,
  recordDelivery,
  releaseDeliveries,
  repairDueDeliveries,
  resendDelivery,
} from './deliveries.ts';
import { claimDeliveries } from './delivery-claims.ts';
import { rollUpLog } from './figures.ts';
import { beat, freeOrphans, removeGateway } from './gateways.ts';
import { grantQuota } from './grants.ts';
import { grantLease, holdExactly, recallLeases, returnLease } from './leases.ts';
import { extend, refund, reserve, settle } from './ledger.ts';
import { addLogDays, dropLogDay } from './log-days.ts';
import { createLeasedTasks, createTask } from './new-tasks.ts';
import { recordPrices } from './price-changes.ts';
import { refundCall } from './refunds.ts';
import { sweepLog, sweepReservations } from './retention.ts';
import { ensureSecret } from './secrets.ts';
import { noteInput, resumeTask } from './task-input.ts';
import {
  claimStrandedTasks,
  claimTask,
  claimTasks,
  recordPolls,
  releaseTasks,
  repairDueTasks,
} from './task-polls.ts';
import { acceptTask, dropTask, finishTask, markAsked, pruneTasks, removeTask } from './tasks.ts';
import { deleteToken, makeToken, returnLeftovers, revokeToken, updateToken } from './tokens.ts';
import { createUser, updateUser } from './users.ts';
import {
  saveVerificationSession,
  settleVerificationSession,
  sweepVerificationSessions,
} from './verification-sessions.ts';
import { forgetVoice, saveVoice, touchVoice } from './voices.ts';

/** Every command of the store. Adding one here is all it takes for both engines to run it. */
export const commands = {
  beat,
  removeGateway,
  freeOrphans,
  createUser,
  updateUser,
  createToken,
  updateToken,
  grantQuota,
  refundCall,
  revokeToken,
  makeToken,
  deleteToken,
  returnLeftovers,
  ensureBootstrap,
  ensureSecret,
  noteChange,
  recordPrices,
  drawRequests,
  claimSockets,
  sweepAllowances,
  disableChannel,
  enableChannel,
  reserve,
  extend,
  settle,
  refund,
  grantLease,
  holdExactly,
  recallLeases,
  returnLease,
  bookCalls,
  sweepReservations,
  sweepLog,
  addLogDays,
  dropLogDay,
  rollUpLog,
  saveVoice,
  touchVoice,
  forgetVoice,
  saveAsset,
  settleAsset,
  renewAssetUrl,
  saveVerificationSession,
  settleVerificationSession,
  sweepVerificationSessions,
  createTask,
  createLeasedTasks,
  markAsked,
  acceptTask,
  noteInput,
  resumeTask,
  dropTask,
  finishTask,
  removeTask,
  pruneTasks,
  claimTasks,
  claimTask,
  claimStrandedTasks,
  recordPolls,
  releaseTasks,
  repairDueTasks,
  claimDeliveries,
  recordDelivery,
  releaseDeliveries,
  repairDueDeliveries,
  pruneDeliveries,
  resendDelivery,
};

export type CommandName = keyof typeof commands;
export type Args<Name extends CommandName> = Parameters<(typeof commands)[Name]>[1];
export type Result<Name extends CommandName> = Awaited<ReturnType<(typeof commands)[Name]>>;

/** For the engines, which carry arguments without looking at them. */
export function commandNamed(name: CommandName): Command<unknown, unknown> {
  return commands[name] as Command<unknown, unknown>;
}

import { createToken } from './accounts.ts';
import { claimSockets, drawRequests, sweepAllowances } from './allowances.ts';
import { finishAsset, renewAssetUrl, saveAsset } from './assets.ts';
import { settleCalls } from './booked-calls.ts';
import { ensureBootstrap } from './bootstrap.ts';
import { recordChange } from './changes.ts';
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
import { recordHeartbeat, releaseOrphans, removeGateway } from './gateways.ts';
import { grantQuota } from './grants.ts';
import { grantLease, recallLeases, reserveExactly, returnLease } from './leases.ts';
import { extend, refund, reserve, settle } from './ledger.ts';
import { addLogDays, dropLogDay } from './log-days.ts';
import { createLeasedTasks, createTask } from './new-tasks.ts';
import { recordPrices } from './price-changes.ts';
import { refundCall } from './refunds.ts';
import { sweepLog, sweepReservations } from './retention.ts';
import { ensureSecret } from './secrets.ts';
import { addTaskInput, resumeTask } from './task-input.ts';
import {
  claimStrandedTasks,
  claimTask,
  claimTasks,
  recordPolls,
  releaseTasks,
  repairDueTasks,
} from './task-polls.ts';
import { acceptTask, dropTask, finishTask, markSubmitted, pruneTasks, removeTask } from './tasks.ts';
import { createChildToken, deleteToken, returnLeftovers, revokeToken, updateToken } from './tokens.ts';
import { createUser, updateUser } from './users.ts';
import {
  finishVerificationSession,
  saveVerificationSession,
  sweepVerificationSessions,
} from './verification-sessions.ts';
import { deleteVoice, saveVoice, updateVoice } from './voices.ts';

/** Every command of the store, for both engines. */
export const commands = {
  recordHeartbeat,
  removeGateway,
  releaseOrphans,
  createUser,
  updateUser,
  createToken,
  updateToken,
  grantQuota,
  refundCall,
  revokeToken,
  createChildToken,
  deleteToken,
  returnLeftovers,
  ensureBootstrap,
  ensureSecret,
  recordChange,
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
  reserveExactly,
  recallLeases,
  returnLease,
  settleCalls,
  sweepReservations,
  sweepLog,
  addLogDays,
  dropLogDay,
  rollUpLog,
  saveVoice,
  updateVoice,
  deleteVoice,
  saveAsset,
  finishAsset,
  renewAssetUrl,
  saveVerificationSession,
  finishVerificationSession,
  sweepVerificationSessions,
  createTask,
  createLeasedTasks,
  markSubmitted,
  acceptTask,
  addTaskInput,
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

/** Returns a command for the engines, which pass on its arguments unread. */
export function commandNamed(name: CommandName): Command<unknown, unknown> {
  return commands[name] as Command<unknown, unknown>;
}

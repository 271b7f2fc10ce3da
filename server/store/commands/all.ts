export { createToken } from './accounts.ts';
export { claimPlaces, drawRequests, sweepAllowances } from './allowances.ts';
export { finishAsset, renewAssetUrl, saveAsset } from './assets.ts';
export { settleCalls } from './booked-calls.ts';
export { ensureBootstrap } from './bootstrap.ts';
export { createBudget, deleteBudget, updateBudget } from './budgets.ts';
export { recordChange } from './changes.ts';
export { shareChannelHealth } from './channel-health.ts';
export { disableChannel, enableChannel } from './channel-states.ts';
export { pruneDeliveries, recordDelivery, resendDelivery } from './deliveries.ts';
export { claimDeliveries } from './delivery-claims.ts';
export { releaseDeliveries, releaseTasks, repairDueDeliveries, repairDueTasks } from './due-work.ts';
export {
  createEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from './endpoints.ts';
export {
  claimEventScan,
  endEvents,
  pingEndpoint,
  pruneEvents,
  recordEvents,
  recordOutages,
} from './events.ts';
export { rollUpLog } from './figures.ts';
export { recordHeartbeat, releaseOrphans, removeGateway } from './gateways.ts';
export { grantQuota } from './grants.ts';
export { grantLease, recallLeases, recallWallet, reserveExactly, returnLease } from './leases.ts';
export { extend, refund, reserve, settle } from './ledger.ts';
export { addLogDays, dropLogDay } from './log-days.ts';
export { createMember, createMemberToken, removeMember, updateMember } from './members.ts';
export { answerRetry, createLeasedTasks, createTask } from './new-tasks.ts';
export { recordPrices } from './price-changes.ts';
export { refundCall } from './refunds.ts';
export { sweepLog, sweepReservations } from './retention.ts';
export { ensureSecret } from './secrets.ts';
export { openSession } from './sessions.ts';
export { closeStatement } from './statements.ts';
export { createSubAccountToken, updateSubAccount } from './sub-accounts.ts';
export { claimStrandedTasks, claimTask, claimTasks, recordPolls } from './task-polls.ts';
export { requeueTask, returnToQueue, startQueuedTasks } from './task-queue.ts';
export {
  acceptTask,
  addTaskInput,
  dropTask,
  finishTask,
  markSubmitted,
  pruneTasks,
  removeTask,
  resumeTask,
} from './tasks.ts';
export { createChildToken, deleteToken, returnLeftovers, revokeToken, updateToken } from './tokens.ts';
export { createSubAccount, createUser, updateUser } from './users.ts';
export {
  finishVerificationSession,
  saveVerificationSession,
  sweepVerificationSessions,
} from './verification-sessions.ts';
export { deleteVoice, saveVoice, updateVoice } from './voices.ts';
export { grantToWallet, openWallet } from './wallets.ts';

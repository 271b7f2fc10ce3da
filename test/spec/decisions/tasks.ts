import type { Limits } from '../../support/limits.ts';

const states = ['queued', 'in_progress', 'completed', 'failed'];
const formats = ['generic', 'videos', 'native', 'official', 'music', 'image'];
const outcomes = ['open', 'delivered', 'given_up'];
const reason = { maxLength: 500, minLength: 1 };

/** Limits of the operations on tasks of all formats and on callbacks. */
export const tasks: Limits = {
  'searchTasks?id': { maxLength: 128, minLength: 1 },
  'searchTasks?state': { enum: states },
  'searchTasks?model': { maxLength: 200, minLength: 1 },
  'searchTasks?channel': { maxLength: 128, minLength: 1 },
  'searchTasks?format': { enum: formats },
  'searchTasks?driver': { maxLength: 64, minLength: 1 },
  'searchTasks?error_code': { maxLength: 200, minLength: 1 },
  'searchTasks?upstream': { enum: ['known', 'unknown'] },
  'listMyTasks?after': { maxLength: 128, minLength: 1 },
  'listMyTasks?state': { enum: states },
  'listMyTasks?model': { maxLength: 200, minLength: 1 },
  'listMyTasks?format': { enum: formats },
  'searchDeliveries?state': { enum: outcomes },
  'searchDeliveries?host': { maxLength: 300, minLength: 1 },
  'parameters/MyTaskId': { maxLength: 128, minLength: 1 },
  'parameters/AdminTaskId': { maxLength: 128, minLength: 1 },
  'parameters/DeliveryId': { maximum: 9007199254740991, minimum: 1 },
  'parameters/OfTask': { maxLength: 128, minLength: 1 },
  'parameters/OfParent': { maximum: 9007199254740991, minimum: 1 },
  'parameters/OfAccount': { maximum: 9007199254740991, minimum: 1 },
  'parameters/OfMember': { maximum: 9007199254740991, minimum: 1 },
  'parameters/OfToken': { maximum: 9007199254740991, minimum: 1 },
  'SettleFailed.outcome': { const: 'failed' },
  'SettleFailed.reason': reason,
  'SettleFailed.message': { maxLength: 500, minLength: 1 },
  'SettleCompleted.outcome': { const: 'completed' },
  'SettleCompleted.reason': reason,
  'SettleCompleted.units': { maximum: 1000000000, minimum: 0 },
  'SettleCompleted.url': { maxLength: 4096, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'AdminTask.format': { enum: formats },
  'AdminTask.state': { enum: states },
  'AdminTask.callback': { enum: [...outcomes, null] },
  'MyTask.format': { enum: formats },
  'MyTask.state': { enum: states },
  'MyTask.callback': { enum: [...outcomes, null] },
  'TaskEvent.event': {
    enum: ['created', 'submitted', 'started', 'polled', 'completed', 'failed', 'canceled', 'callback'],
  },
  'TaskCallback.reports': { enum: states },
  'TaskCallback.state': { enum: outcomes },
  'ExportedEntry.state': { enum: ['completed', 'failed', 'canceled'] },
  'MyLogEntry.state': { enum: ['completed', 'failed', 'canceled'] },
  'MyPrice.unit': { enum: ['characters', 'tokens', 'actions', 'seconds', 'tracks'] },
  'LogItem.state': { enum: ['completed', 'failed', 'canceled'] },
  'RefundCallRequest.amount': { maximum: 9007199254740991, minimum: 1 },
  'RefundCallRequest.reason': reason,
  'Delivery.event': {
    enum: [
      ...states,
      'quota.low',
      'quota.exhausted',
      'budget.reached',
      'task.stuck',
      'channel.unhealthy',
      'ping',
    ],
  },
  'Delivery.state': { enum: outcomes },
};

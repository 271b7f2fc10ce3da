import type { Limits } from '../../support/limits.ts';

const eventsOfUsers = ['quota.low', 'quota.exhausted', 'budget.reached', 'task.stuck'];
const allEvents = [...eventsOfUsers, 'channel.unhealthy'];
const idLimits = { maximum: 9007199254740991, minimum: 1 };
const eventCount = { maxItems: 20, minItems: 1 };

/** Limits of budgets and callback endpoints, and constants of the events that they receive. */
export const callbackEndpoints: Limits = {
  EndpointEvent: { enum: eventsOfUsers },
  OperatorEvent: { enum: allEvents },
  EndpointUrl: { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  EndpointThreshold: { maximum: 1000000000000000, minimum: 1 },
  EndpointDescription: { maxLength: 200 },
  'CreateEndpointRequest.events': eventCount,
  UpdateEndpointRequest: { minProperties: 1 },
  'UpdateEndpointRequest.events': eventCount,
  'CreateOperatorEndpointRequest.events': eventCount,
  UpdateOperatorEndpointRequest: { minProperties: 1 },
  'UpdateOperatorEndpointRequest.events': eventCount,
  'QuotaLowEvent.type': { const: 'quota.low' },
  'QuotaExhaustedEvent.type': { const: 'quota.exhausted' },
  'BudgetReachedEvent.type': { const: 'budget.reached' },
  BudgetPeriod: { enum: ['daily', 'weekly', 'monthly'] },
  'CreateBudgetRequest.user_id': idLimits,
  'CreateBudgetRequest.token_id': idLimits,
  'CreateBudgetRequest.amount': { maximum: 1000000000000000, minimum: 0 },
  'CreateBudgetRequest.time_zone': { default: 'UTC' },
  'CreateBudgetRequest.hard': { default: false },
  'CreateBudgetRequest.thresholds': { maxItems: 10 },
  'CreateBudgetRequest.thresholds[]': { maximum: 1000, minimum: 1 },
  UpdateBudgetRequest: { minProperties: 1 },
  'UpdateBudgetRequest.amount': { maximum: 1000000000000000, minimum: 0 },
  'UpdateBudgetRequest.thresholds': { maxItems: 10 },
  'UpdateBudgetRequest.thresholds[]': { maximum: 1000, minimum: 1 },
  'parameters/BudgetId': idLimits,
  'TaskStuckEvent.type': { const: 'task.stuck' },
  'ChannelUnhealthyEvent.type': { const: 'channel.unhealthy' },
  'EndpointPing.type': { const: 'ping' },
  'EventDelivery.event': { enum: [...allEvents, 'ping'] },
  'EventDelivery.state': { enum: ['open', 'delivered', 'given_up'] },
  'parameters/EndpointId': idLimits,
  'parameters/EventDeliveryId': idLimits,
  'parameters/SecretOverlap': { default: 86400, maximum: 604800, minimum: 0 },
};

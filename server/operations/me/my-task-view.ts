import type { components } from '../../../generated/http.ts';
import { queueOf, unixTime } from '../../providers/video-task.ts';
import { appliedRuleOf, calculatedCost, explainCharge } from '../../quota/charge-explanation.ts';
import { isSandboxChannel } from '../../settings/sandbox-names.ts';
import type { Charge } from '../../store/queries/charges.ts';
import type { OwnTask } from '../../store/queries/own-tasks.ts';
import { type QueuePlaces, unixTimeOrNull } from '../admin/task-view.ts';

type Schemas = components['schemas'];

/** Renders a task for the client that created it, without its channel and the ids of its provider. */
export function viewMyTask(task: OwnTask, places: QueuePlaces): Schemas['MyTask'] {
  const { error_code: code, error_message: message } = task;
  return {
    ...queueOf({ queue: places.get(task.id) }),
    id: task.id,
    request_id: task.request_id,
    token_id: task.token_id,
    token_name: task.token_name,
    operation: task.operation,
    format: task.format,
    model: task.model,
    sandbox: isSandboxChannel(task.channel),
    state: task.state,
    progress: task.progress,
    error: code === null ? null : { code, message: message ?? '' },
    unit: task.unit,
    expected_units: task.expected_units,
    reserved: task.reserved,
    charged: task.charged,
    refunded: task.refunded,
    callback: task.delivery,
    created_at: unixTime(task.created_at),
    updated_at: unixTime(task.updated_at),
    started_at: unixTimeOrNull(task.started_at),
    completed_at: unixTimeOrNull(task.completed_at),
  };
}

/** Renders the charge of an ended task as arithmetic. */
export function viewTaskCharge(charge: Charge): Schemas['TaskCharge'] {
  const { unit, units, unit_price, group_ratio, reserved, quota: charged, debt, refund } = charge;
  const refunded = refund?.amount ?? 0;
  return {
    unit,
    units,
    unit_price,
    price_rule: appliedRuleOf(charge),
    group_ratio,
    reserved,
    charged,
    debt,
    refunded,
    calculated: calculatedCost(charge),
    net: charged - refunded,
    explanation: explainCharge(charge, { forOperator: false }),
  };
}

import type { OperationId } from '../../generated/operations.ts';
import type { OperationRequest } from '../http/handler.ts';
import { channelProtocol, type TaskModel } from '../models/task-model.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskFormat } from '../store/schema.ts';

/** A request for a task, translated for the protocol of its model. */
export interface TaskPlan {
  model: TaskModel;
  /** The format it can be read in. */
  format: TaskFormat;
  /** The upstream's body; the driver puts the upstream's name of the model into it. */
  body: Readonly<Record<string, unknown>>;
  /** What drivers and renderers need to know of the request as long as the task lives. */
  facts: Readonly<Record<string, unknown>>;
  /** In the model's unit: so many are reserved. */
  expectedUnits: number;
  /** Milliseconds until it fails if it is not final by then. */
  lifetimeMs?: number;
  callbackUrl?: string;
}

/**
 * Makes the task: when this resolves, it is on disk and its id may be told.
 *
 * @throws Failure as `Tasks.submit` says
 */
export async function startTask(
  { gateway, caller, requestId, headers }: OperationRequest<OperationId>,
  operation: OperationId,
  { body, ...plan }: TaskPlan,
): Promise<TaskRecord> {
  const { channels, tasks } = gateway;
  const serving = channels.serving(channelProtocol(plan.model.protocol), plan.model.id, caller.group);
  const idempotencyKey = headers['idempotency-key'];
  const { task } = await tasks.submit({
    ...plan,
    requestId,
    caller,
    operation,
    driver: plan.model.protocol,
    channels: channels.order(serving),
    request: body,
    ...(typeof idempotencyKey === 'string' ? { idempotencyKey } : {}),
  });
  return task;
}

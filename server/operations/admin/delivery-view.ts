import type { components } from '../../../generated/http.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { FoundDelivery } from '../../store/queries/delivery-search.ts';
import { unixTimeOrNull } from './task-view.ts';

/** Renders a delivery for admins, with the host of its address only. */
export function viewDelivery({ outcome, state, ...row }: FoundDelivery): components['schemas']['Delivery'] {
  return {
    id: row.id,
    task_id: row.task_id,
    user_id: row.user_id,
    event: state,
    host: row.host,
    state: outcome ?? 'open',
    tries: row.tries,
    last_try_at: unixTimeOrNull(row.last_try_at),
    last_status: row.last_status,
    last_error: row.last_error,
    next_try_at: unixTimeOrNull(row.next_try_at),
    lease_owner: row.lease_owner,
    changed_at: unixTime(row.changed_at),
    closed_at: unixTimeOrNull(row.closed_at),
  };
}

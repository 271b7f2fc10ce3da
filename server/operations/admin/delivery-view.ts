import type { components } from '../../../generated/http.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { FoundDelivery } from '../../store/queries/delivery-search.ts';
import { unixTimeOrNull } from './task-view.ts';

/** Renders a delivery for admins, with the host of its address only. */
export function viewDelivery({ outcome, state, ...row }: FoundDelivery): components['schemas']['Delivery'] {
  return {
    ...row,
    event: state,
    state: outcome ?? 'open',
    last_try_at: unixTimeOrNull(row.last_try_at),
    next_try_at: unixTimeOrNull(row.next_try_at),
    changed_at: unixTime(row.changed_at),
    closed_at: unixTimeOrNull(row.closed_at),
  };
}

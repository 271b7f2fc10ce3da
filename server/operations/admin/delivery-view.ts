import type { components } from '../../../generated/http.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { FoundDelivery } from '../../store/queries/delivery-search.ts';
import { unixTimeOrNull } from './task-view.ts';

/** Renders a delivery for admins, with the host of its address only. */
export function viewDelivery({
  outcome,
  state,
  kind,
  ...row
}: FoundDelivery): components['schemas']['Delivery'] {
  return {
    ...row,
    event: eventOf({ state, kind }),
    state: outcome ?? 'open',
    last_try_at: unixTimeOrNull(row.last_try_at),
    next_try_at: unixTimeOrNull(row.next_try_at),
    changed_at: unixTime(row.changed_at),
    closed_at: unixTimeOrNull(row.closed_at),
  };
}

/** Returns the state of the task or the kind of the event that a delivery reports. */
function eventOf({ state, kind }: Pick<FoundDelivery, 'state' | 'kind'>) {
  const event = state ?? kind;
  if (event === null) throw new Error('the delivery has neither a state nor an event');
  return event;
}

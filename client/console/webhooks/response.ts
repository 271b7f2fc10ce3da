import type { EventDelivery } from '../../index.ts';

/** The status or the reason for a missing one, in a few words. */
export function responseOf({ last_status: status, last_error: error }: EventDelivery): string {
  if (status !== null) return `Status ${status}`;
  return error ?? '–';
}

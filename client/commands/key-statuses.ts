/** Names of the statuses of a key, in the order of their numbers from 1. */
export const keyStatuses = ['enabled', 'disabled', 'expired', 'exhausted'] as const;

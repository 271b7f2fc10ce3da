import {
  chronological,
  each,
  filled,
  type Invariants,
  oneOf,
  past,
  sameAsPath,
  unique,
  when,
} from './vocabulary.ts';

const job = [
  past('submitTime', 'ms'),
  past('startTime', 'ms'),
  past('finishTime', 'ms'),
  chronological('', 'ms', 'submitTime', 'startTime', 'finishTime'),
  when('', 'status', 'SUCCESS', filled('imageUrl'), oneOf('progress', '100%')),
  when('', 'status', 'FAILURE', filled('failReason')),
];

export const images: Invariants<'fetchImageJob' | 'listImageJobs'> = {
  fetchImageJob: [sameAsPath('id', 'id'), ...job],
  listImageJobs: [unique('[].id'), each('[]', job)],
};

import type { Json } from '../../../openapi/tools/document.ts';
import type { Limits } from '../../support/limits.ts';

/** Part 3 of the interface: the states that it lists in full. */
export const states: Limits = {
  VideoTaskStatus: { enum: ['queued', 'in_progress', 'completed', 'failed'] },
  // A completed eta task has progress 100 (part 2.5).
  'VideoTask/allOf/0/if.status': { const: 'completed' },
  'VideoTask/allOf/0/then.progress': { const: 100 },
  'VideoTask/allOf/1/if.status': { const: 'failed' },

  // SUCCESS is the family record's success value, Active the state in which an asset may be referenced.
  'FamilyRecordData/allOf/0/if.status': { const: 'SUCCESS' },
  'Asset/allOf/0/if.Status': { const: 'Active' },

  // Native gamma and 3D tasks. Submit returns PENDING.
  'NativeTaskSubmittedReply.output.task_status': { const: 'PENDING' },
  'NativeTaskPending.task_status': { const: 'PENDING' },
  'NativeTaskRunning.task_status': { const: 'RUNNING' },
  'NativeTaskSucceeded.task_status': { const: 'SUCCEEDED' },
  'NativeTaskFailed.task_status': { const: 'FAILED' },
  'NativeTaskCanceled.task_status': { const: 'CANCELED' },
  'NativeTaskUnknown.task_status': { const: 'UNKNOWN' },
};

/** Required states of resources with an open list of states. */
export const knownStates: Readonly<Record<string, readonly Json[]>> = {
  FamilyRecordStatus: ['SUCCESS'],
  MusicTaskStatus: ['SUCCESS', 'FAILURE'],
  'Asset.Status': ['Active'],
};

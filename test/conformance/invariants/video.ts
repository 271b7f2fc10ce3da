import {
  anyTime,
  atMost,
  chronological,
  each,
  equal,
  filled,
  type Invariants,
  justNow,
  oneOf,
  ordered,
  past,
  requestId,
  sameAsPath,
  sameAsRequest,
  sum,
  totalOf,
  unique,
  when,
} from './vocabulary.ts';

/** A task object of the generic format. */
const task = [
  equal('', 'id', 'task_id'),
  equal('', 'url', 'video_url'),
  past('created_at', 's'),
  past('updated_at', 's'),
  past('completed_at', 's'),
  anyTime('expires_at', 's'),
  chronological('', 's', 'created_at', 'updated_at'),
  chronological('', 's', 'created_at', 'completed_at', 'expires_at'),
  when('', 'status', 'completed', filled('video_url'), filled('completed_at'), oneOf('progress', 100)),
  when('', 'status', 'failed', filled('error.code'), filled('error.message')),
  when('', 'status', 'queued', oneOf('progress', 0)),
];

/** A record of the Seedance family. */
const record = [
  past('data.submit_time', 's'),
  chronological('data', 's', 'submit_time', 'start_time', 'finish_time'),
  when('data', 'status', 'SUCCESS', filled('result_url')),
];

const official = [
  past('created_at', 's'),
  past('updated_at', 's'),
  chronological('', 's', 'created_at', 'updated_at'),
  when('', 'status', 'succeeded', filled('content.video_url')),
  when('', 'status', 'failed', filled('error.code')),
  atMost('usage', 'completion_tokens', 'total_tokens'),
];

/** A native task, also of a 3D model. */
const native = [
  past('output.submit_time', 'date'),
  chronological('output', 'date', 'submit_time', 'scheduled_time', 'end_time'),
  sum('usage', 'duration', 'input_video_duration', 'output_video_duration'),
  when('output', 'task_status', 'FAILED', filled('code')),
];

const created = [justNow('created_at', 's'), sameAsRequest('model', 'model'), ...task];

export const video: Invariants<
  | 'createVideo'
  | 'createGenericVideo'
  | 'getVideo'
  | 'getGenericVideo'
  | 'listVideos'
  | 'deleteVideo'
  | 'getNativeTask'
  | 'cancelNativeTask'
  | 'createNativeVideo'
  | 'createModel3d'
  | 'getOfficialVideo'
  | 'listOfficialVideos'
> = {
  createVideo: created,
  createGenericVideo: created,
  getVideo: [sameAsPath('id', 'task_id'), ...task],
  getGenericVideo: [sameAsPath('id', 'task_id'), sameAsPath('data.task_id', 'task_id'), ...task, ...record],
  listVideos: [ordered('data[].created_at', 'descending'), unique('data[].id'), each('data[]', task)],
  deleteVideo: [sameAsPath('id', 'task_id'), oneOf('deleted', true)],
  createNativeVideo: [requestId('request_id'), oneOf('output.task_status', 'PENDING')],
  createModel3d: [requestId('request_id'), oneOf('output.task_status', 'PENDING')],
  cancelNativeTask: [requestId('request_id')],
  getNativeTask: [
    requestId('request_id'),
    sameAsPath('output.task_id', 'task_id'),
    ...native,
    when('output', 'task_status', 'SUCCEEDED', ({ body }) => {
      const { video_url, results } = body as { video_url?: string; results?: object };
      return (video_url ?? '') === '' && results === undefined ? ['result: video_url is missing'] : [];
    }),
  ],
  getOfficialVideo: [sameAsPath('id', 'task_id'), ...official],
  listOfficialVideos: [
    ordered('items[].created_at', 'descending'),
    unique('items[].id'),
    totalOf('total', 'items'),
    each('items[]', official),
  ],
};

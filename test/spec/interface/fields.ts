export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'any';

/** Field paths with their types. `[]` denotes array items, `!` a required field. */
export type Fields = Readonly<Record<string, FieldType>>;

/** The field tables of part 2 of the interface. */

// 2.2
export const speechRequest: Fields = {
  'model!': 'string',
  input: 'string',
  voice: 'string',
  response_format: 'string',
  speed: 'number',
  instructions: 'string',
  stream: 'boolean',
  stream_format: 'string',
  'extra_body.input': 'object',
  'extra_body.parameters': 'object',
};

// 2.3
export const multimodalRequest: Fields = {
  'model!': 'string',
  'input.text!': 'string',
  'input.voice!': 'string',
  'input.language_type': 'string',
  'input.instructions': 'string',
  'input.optimize_instructions': 'boolean',
};

export const multimodalResponse: Fields = {
  request_id: 'string',
  'output.finish_reason': 'string',
  'output.audio.url': 'string',
  'output.audio.data': 'string',
  'output.audio.id': 'string',
  'output.audio.expires_at': 'integer',
  'usage.characters': 'integer',
  'usage.input_tokens': 'integer',
  'usage.output_tokens': 'integer',
};

// 2.5, generic
const videoRequest: Fields = {
  'model!': 'string',
  prompt: 'string',
  image: 'string',
  'images[]': 'string',
  'reference_images[].url': 'string',
  'video.url': 'string',
  size: 'string',
  seconds: 'string',
  duration: 'integer',
  omni_reference_task_type: 'string',
  'metadata.input.media': 'array',
  'metadata.parameters': 'object',
  'metadata.content': 'array',
  'metadata.ratio': 'any',
  'metadata.video_url': 'any',
  'metadata.audio_url': 'any',
  'metadata.omni_reference_task_type': 'any',
  'metadata.watermark': 'any',
  'metadata.return_last_frame': 'any',
  'metadata.seed': 'any',
  'metadata.camera_fixed': 'any',
  'metadata.draft': 'any',
  'metadata.service_tier': 'any',
  'metadata.execution_expires_after': 'any',
  'metadata.priority': 'any',
  'metadata.safety_identifier': 'any',
  'metadata.callback_url': 'any',
  'metadata.output_format': 'any',
  'metadata.tools': 'any',
  'metadata.frames': 'any',
  'metadata.generate_audio': 'any',
};

/** The generic endpoint requires the prompt, `/v1/videos` does not. */
export const videoGenerationRequest: Fields = { ...videoRequest, 'prompt!': 'string' };

export const videoTask: Fields = {
  id: 'string',
  task_id: 'string',
  object: 'string',
  status: 'string',
  model: 'string',
  created_at: 'integer',
  updated_at: 'integer',
  completed_at: 'integer',
  expires_at: 'integer',
  seconds: 'string',
  size: 'string',
  progress: 'integer',
  url: 'string',
  video_url: 'string',
  content_url: 'string',
  remixed_from_video_id: 'string',
  'output[]': 'object',
  metadata: 'object',
  error: 'object',
  // Part 7: the reason of a failed task.
  'error.message': 'string',
  'error.code': 'string',
  'metadata.url': 'string',
  'metadata.request_id': 'string',
  'metadata.orig_prompt': 'string',
  'metadata.usage.completion_tokens': 'integer',
  'metadata.usage.total_tokens': 'integer',
  'metadata.usage.tool_usage.web_search': 'integer',
  'metadata.usage.video_count': 'any',
  'metadata.usage.duration': 'any',
  'metadata.usage.input_video_duration': 'any',
  'metadata.usage.output_video_duration': 'any',
  'metadata.usage.fps': 'any',
  'metadata.usage.SR': 'any',
  'metadata.usage.ratio': 'any',
  'metadata.last_frame_url': 'string',
  'metadata.output_format': 'any',
  'metadata.duration': 'any',
  'metadata.duration_seconds': 'any',
  'metadata.resolution': 'any',
  'metadata.ratio': 'any',
  'metadata.seed': 'any',
  'metadata.generate_audio': 'any',
};

export const familyRecord: Fields = {
  code: 'string',
  message: 'string',
  'data.task_id': 'string',
  'data.status': 'string',
  'data.result_url': 'string',
  'data.data': 'object',
};

// 2.5, official
export const officialRequest: Fields = {
  'model!': 'string',
  'content[].type': 'string',
  'content[].text': 'string',
  'content[].image_url.url': 'string',
  'content[].video_url.url': 'string',
  'content[].audio_url.url': 'string',
  'content[].role': 'string',
  resolution: 'string',
  ratio: 'string',
  duration: 'integer',
  watermark: 'boolean',
};

// 2.5, assets
export const assetReply: Fields = {
  code: 'integer',
  message: 'string',
  'data.AssetType': 'string',
  'data.CreateTime': 'string',
  'data.UpdateTime': 'string',
  'data.GroupId': 'string',
  'data.Id': 'string',
  'data.Name': 'string',
  'data.ProjectName': 'string',
  'data.Status': 'string',
  'data.URL': 'string',
};

// 2.5, gamma
export const gammaRequest: Fields = {
  'model!': 'string',
  'input.prompt': 'string',
  'input.media[].type': 'string',
  'input.media[].url': 'string',
  'parameters.resolution': 'string',
  'parameters.ratio': 'string',
  'parameters.duration': 'integer',
  'parameters.audio': 'boolean',
  'parameters.seed': 'integer',
  'parameters.prompt_extend': 'boolean',
  'parameters.watermark': 'boolean',
};

export const nativeSubmitted: Fields = {
  'output.task_status': 'string',
  'output.task_id': 'string',
  request_id: 'string',
};

export const nativeTask: Fields = {
  request_id: 'string',
  'output.task_id': 'string',
  'output.task_status': 'string',
  'output.submit_time': 'string',
  'output.scheduled_time': 'string',
  'output.end_time': 'string',
  'output.orig_prompt': 'string',
  'output.video_url': 'string',
  'usage.video_count': 'any',
  'usage.duration': 'any',
  'usage.input_video_duration': 'any',
  'usage.output_video_duration': 'any',
  'usage.fps': 'any',
  'usage.SR': 'any',
  'usage.ratio': 'any',
};

/** 2.5, eta: its request fields, in addition to the generic ones, at `/v1/videos`. */
export const etaRequest: Fields = {
  ...videoRequest,
  resolution: 'string',
  aspect_ratio: 'string',
  custom_domain: 'string',
};

// 2.6
export const musicRequest: Fields = {
  mv: 'string',
  custom_mode: 'integer',
  make_instrumental: 'integer',
  prompt: 'string',
  gpt_description_prompt: 'string',
  title: 'string',
  tags: 'string',
  negative_tags: 'string',
  callback_url: 'string',
  continue_clip_id: 'string',
  continue_at: 'number',
  task: 'string',
  stem_task: 'string',
  'metadata.control_sliders.style_weight': 'any',
  'metadata.control_sliders.weirdness_constraint': 'any',
  'metadata.control_sliders.audio_weight': 'any',
};

export const musicSubmitted: Fields = {
  code: 'integer',
  msg: 'string',
  data: 'string',
  'data[].task_id': 'string',
  'data[].status': 'integer',
  'data[].title': 'string',
  'data[].prompt': 'string',
  exec_time: 'number',
};

export const lyricsSubmitted: Fields = {
  code: 'any',
  msg: 'string',
  data: 'string',
  message: 'string',
  exec_time: 'number',
  ip: 'any',
};

/** The record wrapped as `{data: record}`. */
export const musicRecord: Fields = {
  'data.status': 'string',
  'data.fail_reason': 'string',
  'data.data[].title': 'string',
  'data.data[].audio_url': 'string',
  'data.data[].image_url': 'string',
  'data.data[].metadata': 'object',
};

// 2.7
export const model3dRequest: Fields = {
  model: 'string',
  'input.prompt': 'string',
  'parameters.texture_quality': 'string',
};

// 2.8
const counters: Fields = {
  'usage.prompt_tokens': 'integer',
  'usage.completion_tokens': 'integer',
  'usage.total_tokens': 'integer',
  'usage.input_tokens': 'integer',
  'usage.output_tokens': 'integer',
};

export const embeddingList: Fields = {
  object: 'string',
  'data[].object': 'string',
  'data[].index': 'integer',
  'data[].embedding[]': 'number',
  model: 'string',
  ...counters,
};

export const message: Fields = {
  id: 'string',
  type: 'string',
  role: 'string',
  'content[].type': 'string',
  'content[].text': 'string',
  'content[].image_url': 'any',
  'content[].inline_data': 'any',
  model: 'string',
  stop_reason: 'string',
  ...counters,
};

// 2.9
export const tokenReply: Fields = {
  success: 'boolean',
  message: 'string',
  'data.id': 'integer',
  'data.name': 'string',
  'data.key': 'string',
  'data.status': 'integer',
  'data.remain_quota': 'integer',
  'data.used_quota': 'integer',
  'data.expired_time': 'integer',
  'data.created_time': 'integer',
};

export const logReply: Fields = {
  success: 'boolean',
  message: 'string',
  'data.items[].id': 'integer',
  'data.items[].user_id': 'integer',
  'data.items[].prompt_tokens': 'integer',
  'data.items[].completion_tokens': 'integer',
  'data.items[].quota': 'integer',
  'data.items[].created_at': 'integer',
  'data.items[].token_name': 'string',
  'data.items[].model_name': 'string',
  'data.items[].request_id': 'string',
  'data.total': 'integer',
};

export const verificationReply: Fields = {
  success: 'boolean',
  message: 'string',
  'data.session_id': 'string',
  'data.vendor_token': 'string',
  'data.h5_link': 'string',
  'data.callback_url': 'string',
  'data.channel_id': 'integer',
  'data.status': 'string',
  'data.group_id': 'string',
  'data.raw_response': 'string',
  'data.expires_at': 'string',
  'data.created_at': 'string',
  'data.updated_at': 'string',
};

export const imageSubmitted: Fields = {
  code: 'integer',
  description: 'string',
  result: 'string',
  properties: 'object',
};

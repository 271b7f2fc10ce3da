import type { Limits } from '../../support/limits.ts';

/** Limits of client events in the native duplex speech protocol. */
export const inference: Limits = {
  InferenceTaskId: {
    pattern: '^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$',
  },
  'RunTaskParameters/allOf/0.text_type': { const: 'PlainText' },
  'RunTaskParameters/allOf/0.voice': { maxLength: 256, minLength: 1 },
  'RunTask.header.action': { const: 'run-task' },
  'RunTask.header.streaming': { const: 'duplex' },
  'RunTask.payload.task_group': { const: 'audio' },
  'RunTask.payload.task': { const: 'tts' },
  'RunTask.payload.function': { const: 'SpeechSynthesizer' },
  'RunTask.payload.model': { maxLength: 200 },
  'RunTask.payload.input': { maxProperties: 0 },
  'ContinueTaskInput.text': { maxLength: 20000 },
  'ContinueTask.header.action': { const: 'continue-task' },
  'ContinueTask.header.streaming': { const: 'duplex' },
  'FinishTask.header.action': { const: 'finish-task' },
  'FinishTask.header.streaming': { const: 'duplex' },
  'FinishTask.payload.input': { maxProperties: 0 },
};

/** Client events for tests. They may be invalid. */

export const update = (session: object, id = 'e1') => ({ event_id: id, type: 'session.update', session });
export const append = (text: unknown, id = 'e2') => ({
  event_id: id,
  type: 'input_text_buffer.append',
  text,
});
export const eventOf = (type: string, id = 'e3') => ({ event_id: id, type });

export const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';
export const headerOf = (action: string, id = taskId) => ({ action, task_id: id, streaming: 'duplex' });
export const run = (parameters: object = {}, id = taskId) => ({
  header: headerOf('run-task', id),
  payload: {
    task_group: 'audio',
    task: 'tts',
    function: 'SpeechSynthesizer',
    parameters: { text_type: 'PlainText', voice: 'voxanna', ...parameters },
    input: {},
  },
});
export const text = (words: unknown, id = taskId) => ({
  header: headerOf('continue-task', id),
  payload: { input: { text: words } },
});
export const finish = { header: headerOf('finish-task'), payload: { input: {} } };

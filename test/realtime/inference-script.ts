import type { Frame, Script, UpstreamConnection } from '../support/socket-upstream.ts';

export interface InferenceScriptOptions {
  unit?: 'characters' | 'tokens';
  /** Bytes of one binary frame. */
  audio?: Buffer;
}

/** Creates a scripted provider of the duplex protocol. Text counts one unit for each character. */
export function inferenceScript({
  unit = 'characters',
  audio = Buffer.from([1, 2, 3]),
}: InferenceScriptOptions = {}): Script {
  const used = new WeakMap<UpstreamConnection, number>();
  return {
    frame(connection, frame) {
      const { action, task_id: id } = frame.header as { action: string; task_id: string };
      const usage = () => {
        const count = used.get(connection) ?? 0;
        return unit === 'tokens' ? { input_tokens: count, output_tokens: 50 } : { characters: count };
      };
      if (action === 'run-task') {
        used.set(connection, 0);
        connection.send(event(id, 'task-started', {}));
      } else if (action === 'finish-task') {
        connection.send(event(id, 'task-finished', { output: {}, usage: usage() }));
      } else {
        const { text = '' } = (frame.payload as { input: { text?: string } }).input;
        used.set(connection, (used.get(connection) ?? 0) + text.length);
        const output = (type: string) => ({ output: { type, sentence: { index: 0, words: [] } } });
        connection.send(event(id, 'result-generated', output('sentence-begin')));
        connection.send(event(id, 'result-generated', output('sentence-synthesis')));
        connection.socket.send(audio);
        connection.send(event(id, 'result-generated', { ...output('sentence-end'), usage: usage() }));
      }
    },
  };
}

export function event(taskId: string, name: string, payload: object): Frame {
  return { header: { task_id: taskId, event: name, attributes: {} }, payload };
}

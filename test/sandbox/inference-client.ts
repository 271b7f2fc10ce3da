import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { validateInferenceServerEvent } from '../../generated/event-validators.js';
import type { InferenceServerEvent } from '../../generated/events.ts';
import type { Sandbox } from '../../server/sandbox/sandbox.ts';
import { SocketClient } from './socket-client.ts';

type Frame = InferenceServerEvent | Buffer;

/** An inference socket that validates every event against the contract. */
export class InferenceClient extends SocketClient {
  constructor({ wsUrl, key }: Sandbox, query = '') {
    super(`${wsUrl}/api-ws/v1/inference${query}`, key);
  }

  async opened(): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve));
    return this;
  }

  act(action: string, taskId: string, payload: object): void {
    this.send({ header: { action, task_id: taskId, streaming: 'duplex' }, payload });
  }

  run(taskId: string, parameters: object, more: object = {}): void {
    this.act('run-task', taskId, {
      task_group: 'audio',
      task: 'tts',
      function: 'SpeechSynthesizer',
      model: 'voxa-v3-flash',
      parameters: { text_type: 'PlainText', voice: 'voxanna', ...parameters },
      input: {},
      ...more,
    });
  }

  continue(taskId: string, text: string): void {
    this.act('continue-task', taskId, { input: { text } });
  }

  finish(taskId: string): void {
    this.act('finish-task', taskId, { input: {} });
  }

  async next(): Promise<Frame> {
    const frame = await this.readFrame();
    if (frame === undefined) throw new Error('The socket is closed');
    if (typeof frame !== 'string') return frame;
    const event: unknown = JSON.parse(frame);
    expect(validateInferenceServerEvent(event), frame.slice(0, 200)).toBe(true);
    return event as InferenceServerEvent;
  }

  /** Reads up to the first event with this name, and for sentence events with this type. */
  async until(name: string): Promise<SpokenTask> {
    const frames: Frame[] = [];
    for (let found = ''; found !== name; ) {
      const frame = await this.next();
      frames.push(frame);
      found = nameOf(frame);
    }
    return readTask(frames);
  }

  /** Runs a complete task. */
  async speak(taskId: string, parameters: object, texts: string[], more: object = {}): Promise<SpokenTask> {
    await this.opened();
    this.run(taskId, parameters, more);
    await this.until('task-started');
    for (const text of texts) this.continue(taskId, text);
    this.finish(taskId);
    return await this.until('task-finished');
  }
}

export interface SpokenTask {
  /** Names of the events, types of the sentence events, and `audio` for binary frames. */
  names: string[];
  audio: Buffer;
  events: InferenceServerEvent[];
  last: InferenceServerEvent;
}

function readTask(frames: Frame[]): SpokenTask {
  const events = frames.flatMap((frame) => (isAudio(frame) ? [] : [frame]));
  const last = events.at(-1);
  if (!last) throw new Error('No event');
  return { names: frames.map(nameOf), audio: Buffer.concat(frames.filter(isAudio)), events, last };
}

function isAudio(frame: Frame): frame is Buffer {
  return Buffer.isBuffer(frame);
}

function nameOf(frame: Frame): string {
  if (isAudio(frame)) return 'audio';
  return frame.header.event === 'result-generated'
    ? (frame.payload.output as { type: string }).type
    : frame.header.event;
}

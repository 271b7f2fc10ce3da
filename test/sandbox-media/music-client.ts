import { expect } from 'vitest';
import { taskDurationMs, type useTaskUpstream } from './task-client.ts';

export interface Song {
  id: string;
  clip_id: string;
  title: string;
  status: string;
  audio_url: string;
  image_url: string;
  image_large_url: string;
  model_name: string;
  metadata: Record<string, unknown>;
}

export interface SigmaRecord {
  task_id: string;
  action: string;
  status: string;
  fail_reason: string;
  submit_time: number;
  start_time: number;
  finish_time: number;
  progress: string;
  data: Song[];
}

export interface SigmaReply<Data> {
  code: string;
  message: string;
  data: Data;
}

export interface Timing {
  aligned_words: { word: string; success: boolean; start_s: number; end_s: number }[];
  waveform_data: number[];
  hoot_cer: number;
  is_streamed: boolean;
}

/** A client of the sigma routes. */
export class MusicClient {
  readonly #client: ReturnType<typeof useTaskUpstream>;

  constructor(client: ReturnType<typeof useTaskUpstream>) {
    this.#client = client;
  }

  /** Submits a request and returns the id of the task. */
  async submit(request: object, kind: 'music' | 'lyrics' = 'music'): Promise<string> {
    const { status, body } = await this.#client.send<SigmaReply<string>>(
      'POST',
      `/sigma/submit/${kind}`,
      request,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toEqual({ code: 'success', message: '', data: expect.any(String) });
    return body.data;
  }

  async fetch(id: string): Promise<SigmaRecord> {
    return (await this.#client.send<SigmaReply<SigmaRecord>>('GET', `/sigma/fetch/${id}`)).body.data;
  }

  /** Advances the clock by the duration of a task and waits for its work. */
  async finish(id: string, timeout?: number): Promise<SigmaRecord> {
    this.#client.advance(taskDurationMs);
    const { data } = await this.#client.until<SigmaReply<SigmaRecord>>(
      `/sigma/fetch/${id}`,
      (body) => body.data.finish_time > 0,
      timeout,
    );
    return data;
  }

  /** Submits a request and waits for its task. */
  async make(request: object): Promise<SigmaRecord> {
    return await this.finish(await this.submit(request));
  }
}

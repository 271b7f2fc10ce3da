import { signal } from '@preact/signals';
import { AbortError } from '../../index.ts';

/** Providers use no more of a recording. */
const maxSeconds = 30;
const tickMs = 200;

/** Records the microphone, for up to 30 s. */
export class Recorder {
  readonly isRecording = signal(false);
  readonly seconds = signal(0);
  #recorder: MediaRecorder | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /** Records until `stop`, and returns the recording in a format of the browser. Throws DOMException if the user refuses. */
  async record(): Promise<Blob> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    if (this.#isClosed) {
      release(stream);
      throw new AbortError('The page was left.');
    }
    const recorder = new MediaRecorder(stream);
    const chunks: Blob[] = [];
    const startedAt = performance.now();
    this.#recorder = recorder;
    this.#timer = setInterval(() => {
      this.seconds.value = (performance.now() - startedAt) / 1_000;
      if (this.seconds.value >= maxSeconds) this.stop();
    }, tickMs);
    recorder.addEventListener('dataavailable', ({ data }) => chunks.push(data));
    try {
      await new Promise((resolve) => {
        recorder.addEventListener('stop', resolve, { once: true });
        recorder.start();
        this.isRecording.value = true;
        this.seconds.value = 0;
      });
      return new Blob(chunks, { type: recorder.mimeType });
    } finally {
      clearInterval(this.#timer);
      release(stream);
      this.isRecording.value = false;
    }
  }

  stop(): void {
    if (this.#recorder?.state === 'recording') this.#recorder.stop();
  }

  /** Stops, also if the user allows the microphone later. */
  close(): void {
    this.#isClosed = true;
    this.stop();
  }
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

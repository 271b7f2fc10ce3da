import { randomUUID } from 'node:crypto';
import { createWebSocketStream } from 'ws';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OpenedSocket } from '../../channels/socket.ts';
import { Failure } from '../../lib/failure.ts';
import { field, objectField, parseJson, textField } from '../../lib/json.ts';
import { audioSeconds, inferenceForm } from '../../models/speech-time.ts';
import { sumUsage } from '../../models/usage.ts';
import type { Usage } from '../../quota/metering.ts';
import { SpokenText } from '../../quota/spoken-text.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { failureFromCode } from '../rejection.ts';
import { readUsage } from '../token-usage.ts';
import { badResponse } from '../unusable-response.ts';
import type { NativeSpeechRequest } from './speech-request.ts';

/** Output of a bridged synthesis: a sentence event of the duplex protocol, or audio. */
export type BridgedChunk = { output: Record<string, unknown> } | { audio: Buffer };

/** One synthesis over the duplex socket, for a model without an HTTP route. */
export class BridgedSpeech {
  readonly #opened: OpenedSocket;
  readonly #model: CatalogueModel;
  readonly #request: NativeSpeechRequest['body'];
  readonly #redactor: ProviderRedactor;
  readonly #text: SpokenText;
  /** The provider's latest report. Reports are cumulative. */
  usage: Usage | undefined;
  delivered = false;

  constructor(opened: OpenedSocket, model: CatalogueModel, request: NativeSpeechRequest['body']) {
    this.#opened = opened;
    this.#model = model;
    this.#request = request;
    this.#redactor = new ProviderRedactor(opened.channel, request);
    const { enable_ssml: ssml, ...pace } = request.input;
    this.#text = new SpokenText(model.unit, { ssml: ssml === true, pace });
  }

  /** The reported usage plus the output since then. The provider reports a sentence only at its end. */
  get deliveredUsage(): Usage {
    return sumUsage(this.usage, this.#text.unreported);
  }

  /** Synthesizes the text with backpressure. @throws Failure when the task fails or the socket closes early */
  async *chunks(): AsyncGenerator<BridgedChunk> {
    const { channel, attempt, socket } = this.#opened;
    const frames = createWebSocketStream(socket, { readableObjectMode: true });
    const taskId = randomUUID();
    const send = (action: string, payload: object) => {
      const header = { action, task_id: taskId, streaming: 'duplex' };
      socket.send(JSON.stringify({ header, payload }));
    };
    const { text, ...options } = this.#request.input;
    const parameters: Record<string, unknown> = {
      text_type: 'PlainText',
      ...this.#request.parameters,
      ...options,
    };
    try {
      send('run-task', {
        task_group: 'audio',
        task: 'tts',
        function: 'SpeechSynthesizer',
        model: channel.upstreamModel(this.#model.id),
        parameters,
        input: {},
      });
      for await (const frame of frames as AsyncIterable<Buffer | string>) {
        if (typeof frame !== 'string') {
          this.delivered = true;
          this.#text.addAudio(audioSeconds(frame.length, parameters, inferenceForm));
          yield { audio: frame };
          continue;
        }
        const { event, header, payload } = parseFrame(frame);
        this.#report(readUsage(this.#model.unit, field(payload, 'usage')));
        if (event === 'task-started') {
          this.#text.add(String(text));
          this.#text.commit();
          send('continue-task', { input: { text } });
          send('finish-task', { input: {} });
        } else if (event === 'result-generated') {
          const output = { ...objectField(payload, 'output') };
          if (output.type === 'sentence-begin') this.#text.announce(textField(output, 'original_text'));
          yield { output };
        } else if (event === 'task-failed') {
          throw failureFromCode(field(header, 'error_code'), field(header, 'error_message'), this.#redactor);
        } else if (event === 'task-finished') {
          return;
        }
      }
      throw badResponse('The provider closed the socket before the end of the synthesis.');
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'bad_response') attempt.fail('disconnected');
      throw error;
    } finally {
      frames.destroy();
      socket.terminate();
    }
  }

  #report(usage: Usage | undefined): void {
    if (usage === undefined || usage.units < (this.usage?.units ?? 0)) return;
    this.usage = usage;
    this.#text.report(usage);
  }
}

function parseFrame(text: string): { event: string; header: unknown; payload: unknown } {
  const frame = parseJson(text);
  const header = field(frame, 'header');
  const event = textField(header, 'event');
  if (event === undefined) throw badResponse('The provider sent an invalid frame.');
  return { event, header, payload: field(frame, 'payload') };
}

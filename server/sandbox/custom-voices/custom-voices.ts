import type { ModelId } from '../../../generated/catalogue.ts';
import type { Records, Storage } from '../storage.ts';
import type { VoiceTimbre } from '../voices.ts';

type VoiceStatus = 'DEPLOYING' | 'OK' | 'UNDEPLOYED';

/** Properties of a voice at its creation. */
export interface NewVoice {
  id: string;
  /** The model whose service created it. */
  service: ModelId;
  kind: 'cloned' | 'designed';
  /** The only model that can use it. */
  targetModel: ModelId;
  timbre: VoiceTimbre;
  /** The part of the id that the client chose. */
  name: string;
  language: string;
  /** URL of the recording. */
  recording?: string;
  description?: string;
  previewText?: string;
}

export interface CustomVoice extends Readonly<NewVoice> {
  /** Milliseconds since the epoch, like all times here. */
  readonly createdAt: number;
  readonly changedAt: number;
  readonly status: VoiceStatus;
}

/** Deployment of a created or updated voice. */
interface Deployment {
  /** Deploying takes time. Otherwise the voice is usable immediately. */
  isGradual?: boolean;
  /** The deployment ends as `UNDEPLOYED`. */
  refused?: boolean;
}

interface StoredVoice extends NewVoice {
  createdAt: number;
  madeAt: number;
  readyAt: number;
  refused: boolean;
}

const maxVoices = 10_000;

/** The custom voices of the account. A change is durable when a call returns. */
export class CustomVoices {
  readonly #now: () => number;
  readonly #deploymentMs: number;
  readonly #records: Records<StoredVoice>;
  readonly #voices: Map<string, StoredVoice>;

  /** `deploymentMs` is the duration of a gradual deployment in milliseconds. */
  constructor({ storage, now, deploymentMs }: { storage: Storage; now: () => number; deploymentMs: number }) {
    this.#now = now;
    this.#deploymentMs = deploymentMs;
    this.#records = storage.records('voice');
    this.#voices = new Map(this.#records.all());
  }

  get isFull(): boolean {
    return this.#voices.size >= maxVoices;
  }

  add(voice: NewVoice, { isGradual = false, refused = false }: Deployment = {}): void {
    const now = this.#now();
    const readyAt = now + (isGradual ? this.#deploymentMs : 0);
    this.#store({ ...voice, refused, createdAt: now, madeAt: now, readyAt });
  }

  /** Replaces the timbre of a voice and deploys it again. */
  replace(id: string, change: Pick<NewVoice, 'timbre' | 'recording'>, { refused = false }: Deployment): void {
    const voice = this.#voices.get(id);
    const now = this.#now();
    if (voice) this.#store({ ...voice, ...change, refused, madeAt: now, readyAt: now + this.#deploymentMs });
  }

  find(id: string): CustomVoice | undefined {
    const voice = this.#voices.get(id);
    return voice && this.#withStatus(voice);
  }

  /** Lists the voices of one service, the newest first. */
  list(service: ModelId): CustomVoice[] {
    const own = Array.from(this.#voices.values()).filter((voice) => voice.service === service);
    return own.reverse().map((voice) => this.#withStatus(voice));
  }

  delete(id: string): void {
    this.#records.delete([id]);
    this.#voices.delete(id);
  }

  #store(voice: StoredVoice): void {
    this.#records.put(voice.id, voice);
    this.#voices.set(voice.id, voice);
  }

  #withStatus({ refused, madeAt, readyAt, ...voice }: StoredVoice): CustomVoice {
    if (readyAt > this.#now()) return { ...voice, changedAt: madeAt, status: 'DEPLOYING' };
    return { ...voice, changedAt: readyAt, status: refused ? 'UNDEPLOYED' : 'OK' };
  }
}

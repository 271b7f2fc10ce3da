import type { ModelId } from '../../../generated/catalogue.ts';
import type { Records, Storage } from '../storage.ts';
import type { VoiceTimbre } from '../voices.ts';

type VoiceStatus = 'DEPLOYING' | 'OK' | 'UNDEPLOYED';

/** What a service knows of a voice when it makes one. */
export interface NewVoice {
  id: string;
  /** The model whose service made it. */
  service: ModelId;
  kind: 'cloned' | 'designed';
  /** The one model that speaks with it. */
  targetModel: ModelId;
  timbre: VoiceTimbre;
  /** The part of the id that the client chose. */
  name: string;
  language: string;
  /** Address of the recording. */
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

/** How a voice becomes usable after it was made or made anew. */
interface Deployment {
  /** Takes the deployment time; otherwise the voice is usable at once. */
  gradual?: boolean;
  /** Ends as `UNDEPLOYED`. */
  refused?: boolean;
}

interface StoredVoice extends NewVoice {
  createdAt: number;
  madeAt: number;
  readyAt: number;
  refused: boolean;
}

const capacity = 10_000;

/** The account's custom voices. A change is on disk when its call returns. */
export class CustomVoices {
  readonly #now: () => number;
  readonly #deployment: number;
  readonly #records: Records<StoredVoice>;
  readonly #voices: Map<string, StoredVoice>;

  /** `deployment` is the time in milliseconds until a gradual voice is ready. */
  constructor({ storage, now, deployment }: { storage: Storage; now: () => number; deployment: number }) {
    this.#now = now;
    this.#deployment = deployment;
    this.#records = storage.records('voice');
    this.#voices = new Map(this.#records.all());
  }

  get full(): boolean {
    return this.#voices.size >= capacity;
  }

  add(voice: NewVoice, { gradual = false, refused = false }: Deployment = {}): void {
    const now = this.#now();
    const readyAt = now + (gradual ? this.#deployment : 0);
    this.#keep({ ...voice, refused, createdAt: now, madeAt: now, readyAt });
  }

  /** Gives a voice another timbre; it is deployed anew. */
  replace(id: string, change: Pick<NewVoice, 'timbre' | 'recording'>, { refused = false }: Deployment): void {
    const voice = this.#voices.get(id);
    const now = this.#now();
    if (voice) this.#keep({ ...voice, ...change, refused, madeAt: now, readyAt: now + this.#deployment });
  }

  find(id: string): CustomVoice | undefined {
    const voice = this.#voices.get(id);
    return voice && this.#show(voice);
  }

  /** The voices of one service, the newest first. */
  list(service: ModelId): CustomVoice[] {
    const own = Array.from(this.#voices.values()).filter((voice) => voice.service === service);
    return own.reverse().map((voice) => this.#show(voice));
  }

  delete(id: string): void {
    this.#records.delete([id]);
    this.#voices.delete(id);
  }

  #keep(voice: StoredVoice): void {
    this.#records.put(voice.id, voice);
    this.#voices.set(voice.id, voice);
  }

  #show({ refused, madeAt, readyAt, ...voice }: StoredVoice): CustomVoice {
    if (readyAt > this.#now()) return { ...voice, changedAt: madeAt, status: 'DEPLOYING' };
    return { ...voice, changedAt: readyAt, status: refused ? 'UNDEPLOYED' : 'OK' };
  }
}

import type { NamedVoice } from '../../channels/voice-route.ts';
import { invalid } from '../../lib/failure.ts';

/** The bodies in which clients name voices. */
export type VoiceProtocol = 'synthesizer' | 'multimodal' | 'inference' | 'realtime' | 'customization';

/** Where the bodies of each protocol have what people read or hear, which may say anything. */
const wordPlaces: Readonly<Record<VoiceProtocol, readonly string[]>> = {
  synthesizer: ['input.text', 'input.instruction', 'input.hot_fix'],
  multimodal: [
    'input.text',
    'input.instructions',
    'input.pronunciation_dict',
    'input.clone_prompt.prompt_text',
  ],
  inference: ['payload.input.text', 'payload.parameters.instruction', 'payload.parameters.hot_fix'],
  realtime: ['text', 'session.instructions'],
  customization: ['input.voice_prompt', 'input.preview_text', 'input.text'],
};

/** Keys that name a voice wherever they stand, however they are written, with all that stands below them. */
const voiceKeys: ReadonlySet<string> = new Set([
  'voice',
  'voiceid',
  'voicename',
  'voices',
  'speaker',
  'speakerid',
]);

/** Keys whose values the contract lists, or that name something else: no provider takes them for a voice. */
const otherKeys: ReadonlySet<string> = new Set(
  `action aigc_propagate_id aigc_propagator audio_url data emotion event_id format function header language
  language_boost language_hints language_type mode model output_format preferred_name prefix response_format
  sound_effects streaming target_model task task_group task_id text_type type url`.split(/\s+/),
);

/** Longer than any id of a voice. */
const maxIdLength = 256;
/** More than a body has that means well. */
const maxVoices = 500;
const maxDepth = 100;

/**
 * The strings of a body that the provider may take for a voice: those that stand where one belongs, and all others of
 * which nobody knows what they are.
 *
 * @param except places that are looked at elsewhere
 * @throws Failure 400 when they are too many to be looked up, or stand too deep
 */
export function voicesIn(
  protocol: VoiceProtocol,
  body: Readonly<Record<string, unknown>>,
  except: readonly string[] = [],
): NamedVoice[] {
  const found: NamedVoice[] = [];
  const path: string[] = [];
  /** `name` is that of the field that the value stands in, be it as an item of a list. */
  const look = (value: unknown, place: Place | undefined, named: boolean, name: string): void => {
    if (place?.passed) return;
    if (typeof value === 'string') {
      if (value === '' || (!named && (value.length > maxIdLength || otherKeys.has(name)))) return;
      if (found.length === maxVoices) throw invalid(nameOf(path), 'is one unknown value too many.');
      found.push({ field: nameOf(path), voice: value, named });
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (path.length === maxDepth) throw invalid(nameOf(path), `is nested deeper than ${maxDepth} levels.`);
    const list = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      path.push(key);
      if (list) look(inner, undefined, named, name);
      else look(inner, place?.keys.get(key), named || namesVoice(key), key);
      path.pop();
    }
  };
  look(body, rootOf(protocol, except), false, '');
  return found;
}

/** A place in a body: one that is passed over with all below it, or a way to such places. */
interface Place {
  passed: boolean;
  readonly keys: Map<string, Place>;
}

/** By protocol and the places that are left out, of which the operations have a few. */
const roots = new Map<string, Place>();

function rootOf(protocol: VoiceProtocol, except: readonly string[]): Place {
  return roots.getOrInsertComputed([protocol, ...except].join(' '), () => {
    const root = newPlace();
    for (const name of [...wordPlaces[protocol], ...except]) placeAt(root, name).passed = true;
    return root;
  });
}

function newPlace(): Place {
  return { passed: false, keys: new Map() };
}

/** The place of a name such as `input.voice_setting.voice_id`. */
function placeAt(root: Place, name: string): Place {
  return name.split('.').reduce((place, key) => place.keys.getOrInsertComputed(key, newPlace), root);
}

function namesVoice(key: string): boolean {
  // None of them begins otherwise.
  return /^[vs_-]/i.test(key) && voiceKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''));
}

/** Cut, since keys are the client's own. */
function nameOf(path: readonly string[]): string {
  return path.join('.').slice(0, 200);
}

import type { NamedVoice } from '../../channels/voice-route.ts';
import { invalid } from '../../lib/failure.ts';

export type VoiceProtocol = 'synthesizer' | 'multimodal' | 'inference' | 'realtime' | 'customization';

/** Fields of each protocol with free text. */
const textFields: Readonly<Record<VoiceProtocol, readonly string[]>> = {
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

/** Normalized keys of fields that hold voices, including nested fields. */
const voiceKeys: ReadonlySet<string> = new Set([
  'voice',
  'voiceid',
  'voicename',
  'voices',
  'speaker',
  'speakerid',
]);

/** Keys of fields that hold no voice: enumerated values, or other names. */
const otherKeys: ReadonlySet<string> = new Set(
  `action aigc_propagate_id aigc_propagator audio_url data emotion event_id format function header language
  language_boost language_hints language_type mode model output_format preferred_name prefix response_format
  sound_effects streaming target_model task task_group task_id text_type type url`.split(/\s+/),
);

/** A longer string cannot be a voice id. */
const maxIdLength = 256;
const maxVoices = 500;
const maxDepth = 100;

/**
 * Collects the strings of a body that a provider may read as a voice, from voice fields and unknown fields. The caller
 * checks the fields in `except` itself. Throws Failure 400 when they are too many, or nested too deep.
 */
export function voicesIn(
  protocol: VoiceProtocol,
  body: Readonly<Record<string, unknown>>,
  except: readonly string[] = [],
): NamedVoice[] {
  const found: NamedVoice[] = [];
  const path: string[] = [];
  /** `name` is the field of the value, or of the list that contains it. */
  const visit = (value: unknown, node: PathNode | undefined, named: boolean, name: string): void => {
    if (node?.isExcluded) return;
    if (typeof value === 'string') {
      if (value === '' || (!named && (value.length > maxIdLength || otherKeys.has(name)))) return;
      if (found.length === maxVoices)
        throw invalid(nameOf(path), `exceeds the limit of ${maxVoices} unknown values.`);
      found.push({ field: nameOf(path), voice: value, named });
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (path.length === maxDepth) throw invalid(nameOf(path), `is nested deeper than ${maxDepth} levels.`);
    const list = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      path.push(key);
      if (list) visit(inner, undefined, named, name);
      else visit(inner, node?.keys.get(key), named || isVoiceKey(key), key);
      path.pop();
    }
  };
  visit(body, rootOf(protocol, except), false, '');
  return found;
}

/** A path of a body that is excluded, or that leads to excluded paths. */
interface PathNode {
  isExcluded: boolean;
  readonly keys: Map<string, PathNode>;
}

/** Trees by protocol and excluded fields. The operations use only a few. */
const roots = new Map<string, PathNode>();

function rootOf(protocol: VoiceProtocol, except: readonly string[]): PathNode {
  return roots.getOrInsertComputed([protocol, ...except].join(' '), () => {
    const root = newNode();
    for (const name of [...textFields[protocol], ...except]) nodeAt(root, name).isExcluded = true;
    return root;
  });
}

function newNode(): PathNode {
  return { isExcluded: false, keys: new Map() };
}

/** The node of a path such as `input.voice_setting.voice_id`. */
function nodeAt(root: PathNode, name: string): PathNode {
  return name.split('.').reduce((node, key) => node.keys.getOrInsertComputed(key, newNode), root);
}

function isVoiceKey(key: string): boolean {
  // A cheap check first: all voice keys start with one of these letters.
  return /^[vs_-]/i.test(key) && voiceKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''));
}

/** Cut off, because clients choose the keys. */
function nameOf(path: readonly string[]): string {
  return path.join('.').slice(0, 200);
}

import { signal } from '@preact/signals';
import { CopyButton } from '../parts/copy-button.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { Samples } from './samples.ts';

const storageKey = 'unigate-language';
const language = signal(localStorage.getItem(storageKey) ?? 'curl');

/** The current call as code. The choice of the language applies to all pages. */
export function CallPanel({ samples }: { samples: Samples }) {
  const names = Object.keys(samples);
  const selected = names.includes(language.value) ? language.value : (names[0] ?? '');
  const code = samples[selected] ?? '';
  return (
    <section class="card" aria-label="Code">
      <Tabs
        label="Language"
        names={names}
        selected={selected}
        onSelect={(name) => {
          language.value = name;
          localStorage.setItem(storageKey, name);
        }}
      >
        <Code text={code} label={`${selected} code`} />
      </Tabs>
    </section>
  );
}

/** Code with a copy button. Focusable, so that long lines can be scrolled by keyboard. */
export function Code({ text, label = 'Code' }: { text: string; label?: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}

import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ConformanceRequest } from '../../index.ts';
import { CallForm } from '../calls/call-form.tsx';
import { Code } from '../calls/call-panel.tsx';
import { gatewayUrl, isAdmin, useClient } from '../session/session.ts';
import type { LiveRun } from './live-run.ts';
import type { Report } from './report.ts';
import { ReportFile } from './report-file.tsx';

interface RunFormProps {
  /** Areas of the contract. */
  areas: readonly string[];
  live: LiveRun;
  /** Called with the text of a report that a command has written. */
  onText: (text: string) => void;
  /** Called when a run is complete. */
  onReport: (report: Report) => void;
}

/** The form of a conformance run, and the command that does the same on another machine. */
export function RunForm({ areas, live, onText, onReport }: RunFormProps) {
  const client = useClient();
  const server = useSignal(gatewayUrl);
  const key = useSignal('');
  const chosen = useSignal<readonly string[]>([]);
  const id = useId();
  const isOwn = server.value === '' || server.value.replace(/\/+$/, '') === gatewayUrl;
  const isKeyMissing = !isOwn && key.value === '';
  const isTouched = useSignal(false);
  const toggle = (area: string) => {
    chosen.value = chosen.value.includes(area)
      ? chosen.value.filter((other) => other !== area)
      : [...chosen.value, area];
  };
  const start = async () => {
    isTouched.value = true;
    if (isKeyMissing) return;
    const only = [...chosen.value];
    const body: ConformanceRequest = isOwn
      ? { only, ...(key.value !== '' && { api_key: key.value }) }
      : { only, base_url: server.value, api_key: key.value };
    await live.start(client, body);
    const state = live.run.state.peek();
    if (state.status === 'done') onReport(state.result);
  };
  const command = [
    'npx unigate-conformance',
    `--base-url ${server.value || gatewayUrl}`,
    ...chosen.value.map((area) => `--only ${area}`),
    '--report report.json',
  ].join(' ');
  const fields = (
    <>
      <div class="field">
        <label class="field-label" for={`${id}-server`}>
          Server
        </label>
        <input
          id={`${id}-server`}
          class="input"
          type="url"
          value={server.value}
          onInput={(event) => (server.value = event.currentTarget.value.trim())}
        />
      </div>
      {isAdmin.value && (
        <div class="field">
          <label class="field-label" for={`${id}-key`}>
            API key
          </label>
          <input
            id={`${id}-key`}
            class="input"
            type="password"
            autocomplete="off"
            value={key.value}
            aria-invalid={isTouched.value && isKeyMissing}
            aria-describedby={`${id}-hint`}
            onInput={(event) => (key.value = event.currentTarget.value.trim())}
          />
          <p id={`${id}-hint`} class={isTouched.value && isKeyMissing ? 'field-error' : 'field-hint'}>
            {isOwn
              ? 'Empty: the key that you are signed in with.'
              : isTouched.value && isKeyMissing
                ? 'Another server requires a key.'
                : 'The key needs quota on that server.'}
          </p>
        </div>
      )}
      <fieldset class="field contract-areas">
        <legend class="field-label">
          Areas
          <span class="field-limit">
            {chosen.value.length === 0 ? 'all' : `${chosen.value.length} chosen`}
          </span>
        </legend>
        <div class="contract-area-list">
          {areas.map((area) => (
            <label key={area} class="check">
              <input type="checkbox" checked={chosen.value.includes(area)} onChange={() => toggle(area)} />
              {area}
            </label>
          ))}
        </div>
      </fieldset>
    </>
  );
  return (
    <div class="stack">
      {isAdmin.value ? (
        <CallForm run={live.run} label="Run the tests" onSubmit={start}>
          <p class="secondary">
            The conformance kit tests any server. A run of all areas takes minutes and creates about a hundred
            small tasks, voices and texts.
          </p>
          {fields}
        </CallForm>
      ) : (
        <div class="card fields">
          <p class="secondary">
            The conformance kit tests any server. A key with the scope admin can run it from this page.
          </p>
          {fields}
        </div>
      )}
      <div class="card fields">
        <h2>On another machine</h2>
        <p class="secondary">
          The command reads the key from UNIGATE_API_KEY. Then choose the file report.json.
        </p>
        <Code text={command} label="Command" />
        <ReportFile onText={onText} />
      </div>
    </div>
  );
}

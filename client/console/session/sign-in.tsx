import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { offersProxy, signIn, signInWithProxy, signOutReason } from './session.ts';

/** The form that asks for an API key. */
export function SignIn() {
  const key = useSignal('');
  const run = useRun<void>();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Unigate';
    input.current?.focus();
  }, []);
  const state = run.state.value;
  return (
    <main class="sign-in">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run.start(() => signIn(key.value.trim()));
        }}
      >
        <div>
          <h1>Sign in</h1>
          <p class="secondary">
            {offersProxy
              ? 'Use single sign-on, or an API key of this gateway.'
              : 'Use an API key of this gateway. A gateway prints its first key when it starts.'}
          </p>
        </div>
        {signOutReason.value && state.status !== 'failed' && (
          <p class="notice notice-warning" role="status">
            {signOutReason.value}
          </p>
        )}
        <div class="field">
          <label class="field-label" for={id}>
            API key
          </label>
          <input
            ref={input}
            id={id}
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={key.value}
            onInput={(event) => (key.value = event.currentTarget.value)}
          />
          <p class="field-hint">The key stays in this tab and is forgotten when you close it.</p>
        </div>
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <Button submit variant="primary" busy={state.status === 'running'}>
          Sign in
        </Button>
        {offersProxy && (
          <Button busy={state.status === 'running'} onClick={() => void run.start(() => signInWithProxy())}>
            Use single sign-on
          </Button>
        )}
      </form>
    </main>
  );
}

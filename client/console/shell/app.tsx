import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLoaded } from '../calls/run.ts';
import { isRestoring, restoreSession, session } from '../session/session.ts';
import { SignIn } from '../session/sign-in.tsx';
import { Header } from './header.tsx';
import { Outlet } from './outlet.tsx';
import { route } from './router.ts';
import './shell.css';
import { Sidebar } from './sidebar.tsx';

/** The console: a header, and a page with its navigation, or the form to sign in. */
export function App() {
  const isMenuOpen = useSignal(false);
  const isPaletteOpen = useSignal(false);
  useEffect(() => void restoreSession(), []);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      if (session.peek() !== undefined) isPaletteOpen.value = true;
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  useEffect(() => {
    isMenuOpen.value = false;
  }, [route.value]);
  if (isRestoring.value) return <Header />;
  if (session.value === undefined)
    return (
      <>
        <Header />
        <SignIn />
      </>
    );
  return (
    <>
      <Header menu={isMenuOpen} onPalette={() => (isPaletteOpen.value = true)} />
      <div class="frame">
        <Sidebar isOpen={isMenuOpen.value} />
        <main class="main">
          <Outlet />
        </main>
      </div>
      {isPaletteOpen.value && <LazyPalette onClose={() => (isPaletteOpen.value = false)} />}
    </>
  );
}

/** The palette, whose code is loaded when it is first opened. */
function LazyPalette({ onClose }: { onClose: () => void }) {
  const state = useLoaded(() => import('./palette.tsx')).state.value;
  useEffect(() => {
    if (state.status === 'failed') onClose();
  }, [state.status]);
  return state.status === 'done' ? <state.result.Palette onClose={onClose} /> : null;
}

import { ModelViewerElement } from '@google/model-viewer';

// Decoders of compressed files would come from another host, which the content security policy forbids.
ModelViewerElement.dracoDecoderLocation = './';
ModelViewerElement.ktx2TranscoderLocation = './';
ModelViewerElement.lottieLoaderLocation = './';

interface ViewerOptions {
  url: string;
  alt: string;
  onLoad: (viewer: ModelViewerElement) => void;
  onError: () => void;
}

/** Returns an element that shows a GLB file. The element is loaded when it is added to the page. */
export function createViewer({ url, alt, onLoad, onError }: ViewerOptions): ModelViewerElement {
  const viewer = new ModelViewerElement();
  adoptStyles(viewer);
  viewer.alt = alt;
  viewer.cameraControls = true;
  viewer.touchAction = 'pan-y';
  viewer.environmentImage = 'neutral';
  viewer.shadowIntensity = 1;
  viewer.addEventListener('load', () => onLoad(viewer), { once: true });
  viewer.addEventListener('error', onError, { once: true });
  viewer.src = url;
  return viewer;
}

/** Replaces the style elements of a viewer. The content security policy blocks them when they are added to the page. */
function adoptStyles({ shadowRoot }: ModelViewerElement): void {
  if (shadowRoot === null) return;
  for (const element of shadowRoot.querySelectorAll('style')) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(element.textContent);
    shadowRoot.adoptedStyleSheets.push(sheet);
    element.remove();
  }
}

import { render } from 'preact';
import './look/tokens.css';
import './look/base.css';
import './look/parts.css';
import './look/shell.css';
import { App } from './shell/app.tsx';
import { applyScheme } from './scheme.tsx';

applyScheme();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);

// The page "How it learns, step by step".
import { lesson } from "./lesson.js";

lesson("steps");
